#include "ops/alter_run.h"
silt_status alter_drop_feature(alter_run *run) { return err_UNSUPPORTED_FEATURE(run->o->err, "DROP FEATURE"); }

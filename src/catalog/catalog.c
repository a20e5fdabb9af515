/* What every catalog kind has in common. */
#include "catalog/catalog.h"

void catalog_close(catalog *c) {
    if (c) c->ops->close(c);
}

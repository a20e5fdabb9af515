/** Which process made something: so that what a dead one left can be told from what a living one works on. */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include "base/base.h"

#define PROCESS_NAME_LEN 48

/** This process, as text without spaces, dashes or slashes: machine, number, and when it began. */
void process_name(char out[static PROCESS_NAME_LEN + 1]);
/** That process ran on this machine and has ended. false where that cannot be known: another machine's, or a text that is no name. */
bool process_is_gone(str name);
/** A number of this run of the machine's kernel, which all its containers share: another after the next boot, and on another machine. false: not known. */
bool process_boot(uint64_t *out);

#endif

/** Exact decimal arithmetic beyond 128 bits, rounded half up as Java's BigDecimal does for Spark. */
#ifndef ENGINE_FUNCTIONS_DECIMAL_H
#define ENGINE_FUNCTIONS_DECIMAL_H

#include "table/value.h"

/** x / 10^digits, half away from zero; digits >= 0. */
int128 decimal_round_down(int128 x, int digits);
/** x * 10^digits; false when it leaves 38 digits. */
bool decimal_scale_up(int128 x, int digits, int128 *out);
/** To another scale (half up when digits are dropped); false beyond 38 digits. */
bool decimal_rescale(int128 x, int from_scale, int to_scale, int128 *out);
bool decimal_fits(int128 x, int precision);
/** op: '+' '-' '*' '/' '%' or 'd' (whole quotient). The divisor is not 0. Result at `scale`; false beyond 38 digits. */
bool decimal_calculate(char op, int128 x, int x_scale, int128 y, int y_scale, int scale, int128 *out);
/** The double nearest to x / 10^scale. */
double decimal_to_double(int128 x, int scale);

#endif

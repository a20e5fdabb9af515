/** The door to C++17's std::to_chars: the shortest decimal digits of a binary number. Internal to base, use json.h. */
#ifndef BASE_FLOAT_DOOR_H
#define BASE_FLOAT_DOOR_H

#ifdef __cplusplus
extern "C" {
#endif

/** A finite number > 0 as 0.d₁d₂d₃… × 10^exponent: the fewest digits (at most 17) that read back the same and, among those, the ones
 * nearest to it. @return how many digits */
int float_door_f64(double v, char digits[20], int *exponent);
int float_door_f32(float v, char digits[20], int *exponent);
/** The same with exactly two digits, rounded to nearest. */
int float_door_f64_two(double v, char digits[20], int *exponent);
int float_door_f32_two(float v, char digits[20], int *exponent);

#ifdef __cplusplus
}
#endif
#endif

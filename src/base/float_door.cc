// std::to_chars for C. It holds an implementation of Ryu, which glibc's printf has no counterpart for: with "%.*g" one has to try
// up to 17 precisions and read each back, and the shortest of those is not always the nearest.
#include "base/float_door.h"

#include <charconv>
#include <cstdlib>

namespace {

// Takes d[.ddd]e±xx apart.
int split(const char *text, const char *end, char *digits, int *exponent) {
    int n = 0;
    const char *p = text;
    for (; p < end && *p != 'e'; p++)
        if (*p != '.') digits[n++] = *p;
    *exponent = 1;
    if (p < end) {
        p += p[1] == '+' ? 2 : 1;
        int power = 0;
        std::from_chars(p, end, power);
        *exponent = power + 1;
    }
    return n;
}

template <typename T> int shortest(T v, char *digits, int *exponent) {
    char text[48];
    auto result = std::to_chars(text, text + sizeof text, v, std::chars_format::scientific);
    return split(text, result.ptr, digits, exponent);
}

template <typename T> int two(T v, char *digits, int *exponent) {
    char text[48];
    auto result = std::to_chars(text, text + sizeof text, v, std::chars_format::scientific, 1);
    return split(text, result.ptr, digits, exponent);
}

} // namespace

extern "C" int float_door_f64(double v, char digits[20], int *exponent) { return shortest(v, digits, exponent); }
extern "C" int float_door_f32(float v, char digits[20], int *exponent) { return shortest(v, digits, exponent); }
extern "C" int float_door_f64_two(double v, char digits[20], int *exponent) { return two(v, digits, exponent); }
extern "C" int float_door_f32_two(float v, char digits[20], int *exponent) { return two(v, digits, exponent); }

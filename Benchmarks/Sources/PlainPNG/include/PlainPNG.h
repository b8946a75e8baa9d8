// libpng alone (Linux), to make a picture, and to compare with.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Writes 8-bit RGB. The result is the caller's to free; NULL for a failure.
void *_Nullable writePNG(const uint8_t *_Nonnull pixels, int width, int height, size_t *_Nonnull count);

/// Reads a picture row by row, as RGB, into one row. 0 for a failure.
int readPNG(const void *_Nonnull bytes, size_t count, uint8_t *_Nonnull row);

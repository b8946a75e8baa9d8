#include "PlainPNG.h"

#if defined(__linux__)
#include <png.h>
#include <stdlib.h>
#include <string.h>

void *writePNG(const uint8_t *pixels, int width, int height, size_t *count) {
    png_image image = {.version = PNG_IMAGE_VERSION, .width = width, .height = height};
    image.format = PNG_FORMAT_RGB;
    image.flags = PNG_IMAGE_FLAG_FAST;
    *count = PNG_IMAGE_PNG_SIZE_MAX(image);
    void *bytes = malloc(*count);
    if (bytes && png_image_write_to_memory(&image, bytes, count, 0, pixels, 0, NULL)) return bytes;
    free(bytes);
    return NULL;
}

struct source {
    const unsigned char *bytes;
    size_t rest;
};

static void copy(png_structp png, png_bytep target, size_t count) {
    struct source *source = png_get_io_ptr(png);
    if (count > source->rest) png_error(png, "cut off");
    memcpy(target, source->bytes, count);
    source->bytes += count;
    source->rest -= count;
}

int readPNG(const void *bytes, size_t count, uint8_t *row) {
    struct source source = {bytes, count};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    if (setjmp(png_jmpbuf(png))) {
        png_destroy_read_struct(&png, &info, NULL);
        return 0;
    }
    png_set_read_fn(png, &source, copy);
    png_read_info(png, info);
    for (png_uint_32 left = png_get_image_height(png, info); left > 0; left--) png_read_row(png, row, NULL);
    png_destroy_read_struct(&png, &info, NULL);
    return 1;
}
#else
void *writePNG(const uint8_t *pixels, int width, int height, size_t *count) { return 0; }
int readPNG(const void *bytes, size_t count, uint8_t *row) { return 0; }
#endif

/* Page headers of Parquet: any bytes are parsed or refused; what is taken lies inside the bytes. */
#include <stdlib.h>

#include "table/parquet_pages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    parquet_page page;
    size_t length = 0;
    if (parquet_page_parse((str){(const char *)data, size}, &page, &length) && (length == 0 || length > size)) abort();
    return 0;
}

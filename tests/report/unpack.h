/* The data of an HTML report, read again, and what stands in rows of JSON. */
#ifndef WL_TESTS_REPORT_UNPACK_H
#define WL_TESTS_REPORT_UNPACK_H

#include "report/impl.h"

/* The bytes of a part; caller frees. */
uint8_t *unpacked(const rep_part *part, size_t *size);
/* The JSON text of a report's data; the caller frees it, and the parts. */
json_t *payload_json(const rep_data *data, rep_parts *parts);
/* The object has these keys, in this order, with blanks between them. */
void assert_keys(json_t *object, const char *keys);

#endif

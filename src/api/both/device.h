/* Devices and what a context is set to, as both interfaces ask for them. The devices must be known:
 * cuInit was called, or the runtime did as much. Ordinals are checked here: INVALID_DEVICE. */
#ifndef WL_API_BOTH_DEVICE_H
#define WL_API_BOTH_DEVICE_H

#include "cuda/driver_types.h"
#include "device/device.h"

dev_result api_device_attribute(int *value, int number, int device);
/* The bus id as text, cut off where it is longer than `length`. */
dev_result api_bus_id(char *text, int length, int device);
/* "domain:bus:device" or "bus:device", in hexadecimal. */
dev_result api_by_bus_id(int *device, const char *text);
dev_result api_can_access_peer(int *can, int device, int peer);
dev_result api_peer_attribute(int *value, int number, int device, int peer);

/* `peer` NULL: none was found, which gives `none`. */
dev_result api_enable_peer(dev_call *call, dev_context *peer, unsigned flags, dev_result none);
dev_result api_disable_peer(dev_call *call, dev_context *peer, dev_result none);

/* Preferences of a context that are kept and given back. */
dev_result api_cache_config(dev_call *call, int *config);
dev_result api_set_cache_config(dev_call *call, int config);
/* The width of shared memory's banks: four bytes since Maxwell. */
dev_result api_bank_width(int *config);
dev_result api_set_bank_width(int config);

#endif

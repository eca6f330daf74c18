#include "flow/kernel.h"

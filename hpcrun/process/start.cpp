#include "hpcrun/process/start.h"

"""`python -m carrel.server.role ROLE [PARENT]`: see `carrel.server.processes`.

Imports it with garbage collection disabled, since modules are never garbage; this makes starts a tenth faster.
"""

import gc
import sys

if __name__ == "__main__":
    gc.disable()
    from carrel.server.processes import main

    main(sys.argv[1:])

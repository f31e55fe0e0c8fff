"""`python -m carrel.server.role ROLE [PARENT]`: see `carrel.server.processes`, which is loaded without a look for
garbage in between. None of it is ever any, and a start takes a tenth less.
"""

import gc
import sys

if __name__ == "__main__":
    gc.disable()
    from carrel.server.processes import main

    main(sys.argv[1:])

"""Accelerators: discovery on a machine, and attachment to containers. Running containers is not part of this
package.
"""

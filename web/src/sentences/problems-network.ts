import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

interface Sentences {
  detail: MessageDescriptor;
  hint?: MessageDescriptor;
}

/** Error codes of checks of the network. */
export const NETWORK_PROBLEMS: Record<string, Sentences> = {
  "network.busy": {
    detail: msg`The network of this session is being measured.`,
    hint: msg`Wait for its end, at most a minute.`,
  },
  "network.failed": {
    detail: msg`The measurement in a container failed.`,
    hint: msg`Look at the memory of its containers, and for programs that filter packets there.`,
  },
  "network.no_nccl": {
    detail: msg`The network between accelerators of one container is measured with NCCL, which is not usable in it.`,
    hint: msg`Use an image with PyTorch for these accelerators, and at least 1 GiB of memory for each of them.`,
  },
  "network.no_python": {
    detail: msg`The network is measured with Python, which a container does not have.`,
    hint: msg`Use an image with python3 from 3.7.`,
  },
  "network.single": {
    detail: msg`With one running container and at most one whole accelerator, there is no network to measure.`,
    hint: msg`Create a session with several containers.`,
  },
  "network.timed_out": {
    detail: msg`The containers did not complete the measurement in time.`,
    hint: msg`They may be busy, or something may drop their packets; try again.`,
  },
};

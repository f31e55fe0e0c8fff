import type { I18n, MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { EngineCheck } from "@/api/types";
import type { Setting } from "@/ui/form/settings";

interface Words {
  title: MessageDescriptor;
  text: MessageDescriptor;
}

interface KindWords extends Words {
  settings: Record<string, Words>;
}

/** The built-in kinds; plug-ins bring their own texts. */
const OURS: Record<string, KindWords> = {
  docker: {
    title: msg`Docker or Podman`,
    text: msg`Docker, or Podman through its compatible socket.`,
    settings: {
      url: { title: msg`Address`, text: msg`Socket or address of the daemon, as in DOCKER_HOST.` },
      addresses: {
        title: msg`Address range`,
        text: msg`Range that the networks of sessions are cut from.`,
      },
    },
  },
  kubernetes: {
    title: msg`Kubernetes`,
    text: msg`A Kubernetes cluster. Each container of a session is a pod.`,
    settings: {
      kubeconfig: {
        title: msg`Kubeconfig`,
        text: msg`Content of a kubeconfig with the credentials in it, as \`kubectl config view --raw --flatten --minify\` prints it.`,
      },
      context: { title: msg`Context`, text: msg`Context of the kubeconfig. If empty, its current one.` },
      url: { title: msg`API server`, text: msg`Address of the API server.` },
      token: { title: msg`Token`, text: msg`Token of a service account.` },
      authority: {
        title: msg`Certificate authority`,
        text: msg`Certificate (PEM) that signs that of the API server. If empty, those that the machine trusts.`,
      },
      namespace: { title: msg`Namespace`, text: msg`Namespace of the pods. Created if it is missing.` },
      domain: {
        title: msg`Cluster domain`,
        text: msg`Domain of the names of services, with which the containers of a session find each other.`,
      },
      apps: {
        title: msg`Apps`,
        text: msg`How the gateway reaches apps: directly by the addresses of pods (direct), or more slowly by the API server (api-server).`,
      },
      gateway_networks: {
        title: msg`Gateway networks`,
        text: msg`Addresses from which the gateway and the API connect to sessions, if they are outside of the cluster. Separated by commas.`,
      },
      gateway_namespace: {
        title: msg`Gateway namespace`,
        text: msg`Namespace of the pods of the gateway and the API, if they are in the cluster. If empty, that of the sessions.`,
      },
      reachable_networks: {
        title: msg`Reachable networks`,
        text: msg`Private networks that sessions may reach, besides the internet. Separated by commas.`,
      },
      runtime_class: {
        title: msg`Runtime class`,
        text: msg`Runtime class of the pods, such as that of gVisor or Kata. If empty, the default of the cluster.`,
      },
      user_namespaces: {
        title: msg`User namespaces`,
        text: msg`Users of a session are others on its node, if the node supports that. File systems of folders must support it too, which NFS does not.`,
      },
      check_image: {
        title: msg`Image for checks`,
        text: msg`Image with BusyBox, in which a check of the engine tries out network policies.`,
      },
      app_layer: {
        title: msg`App layer`,
        text: msg`Image of the app layer, which brings JupyterLab, VS Code and more to every image, in a registry that the nodes reach. If empty, sessions have only the programs of their images.`,
      },
      app_layer_directory: {
        title: msg`Directory of the app layer`,
        text: msg`Directory of each node in which the app layer is kept, where there are no image volumes. Pod Security must allow hostPath and root there. If empty, each pod has a copy.`,
      },
      tolerations: {
        title: msg`Tolerations`,
        text: msg`Taints of nodes that do not keep sessions away, such as nvidia.com/gpu or dedicated=lab:NoSchedule.`,
      },
      extended_resources: {
        title: msg`Extended resources`,
        text: msg`Resources of device plug-ins that sessions may request, besides those of known vendors: the slot of example.com/npu is npu.device.`,
      },
      device_classes: {
        title: msg`Device classes`,
        text: msg`Classes of devices that sessions get by claims (dynamic resource allocation), each with its slot, such as gpu.nvidia.com=cuda.device.`,
      },
      device_metrics_url: {
        title: msg`Device metrics`,
        text: msg`Where exporters publish what they measure of accelerators, as text for Prometheus: an address, in which node and address in braces are those of each node, or a path of the API server. If empty, it is not measured.`,
      },
    },
  },
};

/** What an engine cannot do. */
export const GAPS: Record<EngineCheck["gaps"][number]["code"], MessageDescriptor> = {
  unprotected: msg`Its connection is not protected: whoever is on the way to it can read and change everything.`,
  network_policy: msg`Sessions may reach each other and the cluster: it is not known to enforce network policies.`,
  accelerators: msg`It offers no accelerators.`,
  root: msg`Sessions cannot have root inside.`,
  disk_limits: msg`What sessions write outside their folders is not limited.`,
  resizing: msg`CPU and memory of running sessions cannot be changed.`,
  files: msg`A session whose container has ended starts again without its files outside folders.`,
  log_streams: msg`Logs do not tell standard output and errors apart.`,
  oom_events: msg`That the memory limit ended a process is only known of the main process.`,
  host_usage: msg`The load of whole machines is not measured.`,
  disk_watch: msg`Disks that fill quickly are noticed late.`,
  app_layer: msg`Sessions have only the programs of their images: no app layer is named.`,
};

/** Notes of checks, by the server's sentences. */
export const CHECK_NOTES: Record<string, MessageDescriptor> = {
  "The gateway connects to apps through the engine.": msg`The gateway connects to apps through the engine.`,
  "Their addresses can be reached from here, which is faster.": msg`Their addresses can be reached from here, which is faster.`,
  "The addresses of its containers cannot be reached from here: if the gateway cannot reach them either, set it to connect to apps through the engine.": msg`The addresses of its containers cannot be reached from here: if the gateway cannot reach them either, set it to connect to apps through the engine.`,
  "It enforces network policies.": msg`It enforces network policies.`,
};
const OF_LAYER = /^App layer: (.+)$/;
const NOT_REFUSED = /^It does not enforce network policies: not refused are (.+)\.$/;

/** A note of a check in the language of the page; null: it is not known. */
export function checkNoteIn(say: (message: MessageDescriptor) => string, note: string): string | null {
  if (CHECK_NOTES[note]) return say(CHECK_NOTES[note]);
  const layer = OF_LAYER.exec(note)?.[1];
  if (layer) return say(msg`App layer: ${layer}`);
  const places = NOT_REFUSED.exec(note)?.[1];
  return places ? say(msg`It does not enforce network policies: not refused are ${places}.`) : null;
}

/** Gaps that people should close. */
export const DANGERS: readonly string[] = ["unprotected", "network_policy"];

/** The name of a kind, translated where a translation exists. */
export const engineKindTitle = (i18n: I18n, kind: string, given: string): string =>
  OURS[kind] ? i18n._(OURS[kind].title) : given;

/** What a kind is. */
export const kindText = (i18n: I18n, kind: string, given: string): string =>
  OURS[kind] ? i18n._(OURS[kind].text) : given;

/** The name of a setting; for that of another plug-in, its own. */
export function settingTitle(i18n: I18n, kind: string, setting: string): string {
  const words = OURS[kind]?.settings[setting];
  return words ? i18n._(words.title) : setting;
}

/** The settings of a kind, translated where a translation exists. */
export const translatedEngineSettings = (i18n: I18n, kind: string, settings: readonly Setting[]): Setting[] =>
  settings.map((setting) => {
    const words = OURS[kind]?.settings[setting.name];
    return words ? { ...setting, title: i18n._(words.title), description: i18n._(words.text) } : setting;
  });

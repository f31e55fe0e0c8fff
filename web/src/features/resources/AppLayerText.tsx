import { Trans, useLingui } from "@lingui/react/macro";
import type { Engine } from "@/api/types";
import { layerStep } from "@/sentences/layer-steps";

/** What sessions of any image get from this engine's app layer. */
export function AppLayerText({ layer }: { layer: Engine["app_layer"] }) {
  const { i18n } = useLingui();
  if (!layer) {
    return <Trans>None: sessions have only the programs of their images</Trans>;
  }
  const { state, error } = layer;
  const step = layerStep((message) => i18n._(message), layer.step);
  if (state === "READY") {
    return (
      <>
        <Trans>Ready: JupyterLab, VS Code and a file browser in every image</Trans>
        {step && ` (${step})`}
      </>
    );
  }
  if (state === "BUILDING") {
    return step ? <Trans>Building: {step}</Trans> : <Trans>Building</Trans>;
  }
  return <Trans>Failed: {error} Sessions start without it. A check tries again.</Trans>;
}

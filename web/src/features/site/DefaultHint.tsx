import { Trans } from "@lingui/react/macro";
import { UnstyledButton } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import type { ReactNode } from "react";
import { SITE_DEFAULTS, type SiteSetting, type SiteValues, sameSetting } from "./defaults";

interface Props {
  form: UseFormReturnType<SiteValues>;
  name: SiteSetting;
  /** The default as text. */
  text: ReactNode;
}

/** The default of a setting, with a reset button. */
export function DefaultHint({ form, name, text: said }: Props) {
  if (sameSetting(form.values[name], SITE_DEFAULTS[name])) return <Trans>Default: {said}</Trans>;
  return (
    <>
      <Trans>Default: {said}</Trans>
      {" · "}
      <UnstyledButton
        fz="inherit"
        c="var(--carrel-accent)"
        td="underline"
        onClick={() => form.setFieldValue(name, SITE_DEFAULTS[name] as never)}
      >
        <Trans>Reset to default</Trans>
      </UnstyledButton>
    </>
  );
}

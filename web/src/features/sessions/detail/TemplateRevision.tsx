import { Trans } from "@lingui/react/macro";
import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";

interface Props {
  id: string;
  name: string;
  revision: number;
}

/** The template that a session was started from, as it was then. */
export function TemplateRevision({ id, name, revision }: Props) {
  return (
    <Trans>
      <Anchor
        size="sm"
        underline="always"
        renderRoot={(props) => <Link {...props} to="/templates" search={{ open: id }} />}
      >
        {name}
      </Anchor>
      , revision {revision}
    </Trans>
  );
}

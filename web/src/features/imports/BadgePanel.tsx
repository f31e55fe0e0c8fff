import { Trans, useLingui } from "@lingui/react/macro";
import { Stack, Text, Title } from "@mantine/core";
import { type ImportLink, importAddress } from "@/routing/import-link";
import { CommandLine } from "@/ui/CommandLine";
import panel from "@/ui/Panel.module.css";

/** A link to this page for a README: it opens the form filled in, and starts nothing. */
export function BadgePanel({ link }: { link: ImportLink }) {
  const { t } = useLingui();
  const { origin } = window.location;
  const address = importAddress(origin, link);
  const picture = `${origin}/import-badge.svg`;
  return (
    <section className={panel.panel} aria-label={t`Badge`}>
      <Stack gap="xs">
        <Title order={2} size="h5">
          <Trans>Badge</Trans>
        </Title>
        <img src="/import-badge.svg" alt="Open in Carrel" width={120} height={20} />
        <Text size="sm" c="dimmed">
          <Trans>
            For a README: whoever follows it sees this form filled in. Nothing starts without their click.
          </Trans>
        </Text>
        <CommandLine text={`[![Open in Carrel](${picture})](${address})`} />
        <CommandLine text={`<a href="${html(address)}"><img src="${picture}" alt="Open in Carrel"></a>`} />
      </Stack>
    </section>
  );
}

const html = (text: string): string => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

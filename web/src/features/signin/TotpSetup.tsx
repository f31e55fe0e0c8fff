import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { useConfirmTotp, useOfferTotp } from "@/queries/factors";
import { CopyButton } from "@/ui/CopyButton";
import { ProblemAlert } from "@/ui/ProblemAlert";
import styles from "./Entry.module.css";

interface Props {
  /** Receives the recovery codes; none if some exist already. */
  onDone: (codes: string[]) => void;
  onCancel: () => void;
}

/** Sets up an authenticator app: QR code and secret, then a first code. */
export function TotpSetup({ onDone, onCancel }: Props) {
  const { t } = useLingui();
  const { mutate: ask, data: offer, error: refused } = useOfferTotp();
  const confirm = useConfirmTotp();
  const [code, setCode] = useState("");
  const requested = useRef(false);
  useEffect(() => {
    // A second request would invalidate the first secret.
    if (!requested.current) ask();
    requested.current = true;
  }, [ask]);

  if (refused) {
    return (
      <Stack>
        <ProblemAlert problem={refused} onRetry={() => ask()} />
        <Group>
          <Button variant="default" onClick={onCancel}>
            <Trans>Cancel</Trans>
          </Button>
        </Group>
      </Stack>
    );
  }
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (code.trim() !== "") confirm.mutate(code.trim(), { onSuccess: onDone });
  };
  return (
    <form onSubmit={send} noValidate>
      <Stack>
        <Text size="sm">
          <Trans>
            Scan the QR code with an authenticator app, such as Aegis, Google Authenticator or 1Password, and
            enter the code that it shows.
          </Trans>
        </Text>
        {offer ? (
          <img
            className={styles.qr}
            src={`data:image/svg+xml;utf8,${encodeURIComponent(offer.qr_svg)}`}
            alt={t`QR code with the secret`}
          />
        ) : (
          <Skeleton className={styles.qr} />
        )}
        <div>
          <Text size="xs" c="dimmed">
            <Trans>Or enter this secret in the app:</Trans>
          </Text>
          <Group gap={4} wrap="nowrap">
            <Text ff="monospace" size="sm" style={{ overflowWrap: "anywhere" }} data-secret>
              {offer?.secret.match(/.{1,4}/g)?.join(" ") ?? "…"}
            </Text>
            {offer && <CopyButton text={offer.secret} label={t`Copy secret`} />}
          </Group>
        </div>
        <TextInput
          label={t`Code from the app`}
          inputMode="numeric"
          autoComplete="one-time-code"
          placeholder="123456"
          maxLength={10}
          value={code}
          error={confirm.error ? true : undefined}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
        {confirm.error && <ProblemAlert problem={confirm.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            <Trans>Cancel</Trans>
          </Button>
          <Button type="submit" loading={confirm.isPending}>
            <Trans>Turn on</Trans>
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

import { Alert, Text } from "@mantine/core";
import { IconMail } from "@tabler/icons-react";
import type { ReactNode } from "react";

/** Says that an e-mail was sent, if the address has an account. */
export function MailSent({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Alert color="lamp" variant="light" icon={<IconMail size={18} aria-hidden />} title={title} role="status">
      <Text size="sm">{children}</Text>
    </Alert>
  );
}

import { Title } from "@mantine/core";
import type { ReactNode } from "react";

/** The heading of a page. */
export function PageTitle({ children, className }: { children: ReactNode; className?: string }) {
  return (
    <Title order={1} size="h3" className={className}>
      {children}
    </Title>
  );
}

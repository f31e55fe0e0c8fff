import { Trans, useLingui } from "@lingui/react/macro";
import { Skeleton, Text, Textarea } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { Suspense } from "react";
import { part } from "@/routing/part";
import { DefaultHint } from "./DefaultHint";
import type { SiteValues } from "./defaults";
import { BELOW, Section } from "./Section";

const Announced = part(() => import("./Announced").then((m) => m.Announced));

/** The announcement at the top of every page. */
export function AnnouncementSection({ form }: { form: UseFormReturnType<SiteValues> }) {
  const { t } = useLingui();
  const text = form.values.announcement;
  return (
    <Section
      title={t`Announcement`}
      text={t`Shown at the top of every page and on the sign-in page until a user dismisses it or you remove it.`}
    >
      <Textarea
        label={t`Markdown`}
        autosize
        minRows={3}
        maxRows={12}
        maxLength={4000}
        description={<DefaultHint form={form} name="announcement" text={<Trans>none</Trans>} />}
        inputWrapperOrder={BELOW}
        {...form.getInputProps("announcement")}
      />
      {text.trim() !== "" && (
        <section aria-label={t`Preview`}>
          <Text size="sm" fw={500} mb={4}>
            <Trans>Preview</Trans>
          </Text>
          <Suspense fallback={<Skeleton height={40} />}>
            <Announced text={text} />
          </Suspense>
        </section>
      )}
    </Section>
  );
}

import { useLingui } from "@lingui/react/macro";
import { Select, SimpleGrid, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { zonesWith } from "@/ui/form/zones";
import { DefaultHint } from "./DefaultHint";
import { SITE_DEFAULTS, type SiteValues } from "./defaults";
import { BELOW, Section } from "./Section";

/** When the tags of watched images are checked. */
export function ImageUpdatesSection({ form }: { form: UseFormReturnType<SiteValues> }) {
  const { t } = useLingui();
  const hint = (name: "image_watch_start" | "image_watch_end" | "image_watch_timezone") => ({
    description: <DefaultHint form={form} name={name} text={SITE_DEFAULTS[name]} />,
    inputWrapperOrder: BELOW,
    ...form.getInputProps(name),
  });
  return (
    <Section
      title={t`Updates of images`}
      text={t`The tags of watched images are checked once in these hours of each day. The same time twice: all day.`}
    >
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <TextInput type="time" label={t`Daily checks for updates from`} {...hint("image_watch_start")} />
        <TextInput type="time" label={t`Daily checks for updates until`} {...hint("image_watch_end")} />
        <Select
          label={t`Time zone of the daily checks`}
          searchable
          allowDeselect={false}
          data={zonesWith(form.values.image_watch_timezone)}
          {...hint("image_watch_timezone")}
        />
      </SimpleGrid>
    </Section>
  );
}

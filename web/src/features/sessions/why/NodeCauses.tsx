import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { List, Text } from "@mantine/core";
import type { Why } from "@/api/types";
import { nodeCauseIn } from "@/sentences/reasons";

/** Why the nodes cannot run the session, by cause. */
export function NodeCauses({ nodes }: { nodes: Why["nodes"] }) {
  const { i18n } = useLingui();
  const say = (text: string) =>
    i18n.locale === "en" ? text : (nodeCauseIn((message) => i18n._(message), text) ?? text);
  return (
    <div>
      <Text size="xs" fw={600}>
        <Trans>Nodes by reason</Trans>
      </Text>
      <List size="xs" spacing={2}>
        {nodes.map((one) => (
          <List.Item key={`${one.text}:${one.slot}`}>
            <Plural value={one.count} one="# node" other="# nodes" />: {say(one.text)}
          </List.Item>
        ))}
      </List>
    </div>
  );
}

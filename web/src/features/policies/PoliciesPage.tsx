import { Plural, useLingui } from "@lingui/react/macro";
import { Group as Row, SegmentedControl } from "@mantine/core";
import { IconCopy, IconPencil, IconTrash } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useDeferredValue } from "react";
import type { Policy, PolicyKind } from "@/api/types";
import { everyPolicy, type PolicyFilter, policiesListQuery } from "@/queries/policies";
import { part } from "@/routing/part";
import { POLICY_KINDS } from "@/routing/search";
import { useAddress } from "@/routing/use-address";
import { LazyDrawer } from "@/ui/LazyDrawer";
import { ListPage } from "@/ui/table/ListPage";
import { RowTool } from "@/ui/table/RowTool";
import { serverSort } from "@/ui/table/sorted";
import { useRows } from "@/ui/table/use-rows";
import { POLICY_COLUMNS, POLICY_FIELDS } from "./columns";
import { POLICY_KIND_NAMES } from "./limit-words";
import { usePolicyActs } from "./use-policy-acts";

const PolicyDrawer = part(() => import("./PolicyDrawer").then((m) => m.PolicyDrawer));
const PolicyFormDrawer = part(() => import("./PolicyForm").then((m) => m.PolicyFormDrawer));

const route = getRouteApi("/shell/policies");
const idOf = (policy: Policy) => policy.id;
const look = (policy: Policy) => ({ name: policy.name });
const NEW = "new";

/** The resource policies of one kind. */
export function PoliciesPage() {
  const { t, i18n } = useLingui();
  const search = route.useSearch();
  const change = useAddress<typeof search>();
  const acts = usePolicyActs();
  const kind: PolicyKind = search.kind ?? "keypair";
  const filter: PolicyFilter = {
    kind,
    q: useDeferredValue(search.q),
    sort: serverSort(POLICY_COLUMNS, search),
  };
  const list = useInfiniteQuery(policiesListQuery(filter));
  const { rows, more } = useRows(list);
  const edit = useCallback((policy: Policy) => change({ form: policy.id }), [change]);
  const tools = useCallback(
    (policy: Policy) => (
      <Row gap={0} wrap="nowrap" justify="flex-end">
        <RowTool
          label={t`Edit`}
          row={policy.name}
          icon={IconPencil}
          refusal={acts.whyNotChange}
          onClick={() => edit(policy)}
        />
        <RowTool
          label={t`Copy`}
          row={policy.name}
          icon={IconCopy}
          refusal={acts.whyNotMake}
          onClick={() => acts.copy(policy)}
        />
        <RowTool
          label={t`Remove`}
          row={policy.name}
          icon={IconTrash}
          color="red"
          refusal={acts.whyNotRemove(policy)}
          onClick={() => acts.remove(policy)}
        />
      </Row>
    ),
    [t, acts, edit],
  );

  return (
    <ListPage
      title={t`Resource policies`}
      name="policies"
      search={search}
      onChange={change}
      list={list}
      rows={rows}
      onMore={more}
      rowId={idOf}
      columns={POLICY_COLUMNS}
      look={look}
      onOpen={useCallback((policy: Policy) => change({ open: policy.id }), [change])}
      tools={tools}
      toolsWidth="7.25rem"
      minWidth="60rem"
      file={{ name: `${kind}-policies`, fields: POLICY_FIELDS, all: () => everyPolicy(filter) }}
      make={{ label: t`New policy`, refusal: acts.whyNotMake, onClick: () => change({ form: NEW }) }}
      filters={
        <SegmentedControl
          size="xs"
          aria-label={t`Policy type`}
          value={kind}
          onChange={(next) =>
            change({ kind: next === "keypair" ? undefined : (next as PolicyKind), open: undefined })
          }
          data={POLICY_KINDS.map((value) => ({ value, label: i18n._(POLICY_KIND_NAMES[value]) }))}
        />
      }
      counted={<Plural value={rows.length} one="# policy" other="# policies" />}
      empty={{ title: t`No policies match the filter` }}
    >
      <LazyDrawer value={search.form}>
        {(form, opened) => (
          <PolicyFormDrawer
            opened={opened}
            id={form === NEW ? undefined : form}
            kind={kind}
            onClose={() => change({ form: undefined })}
          />
        )}
      </LazyDrawer>
      <LazyDrawer value={search.open}>
        {(id, opened) => (
          <PolicyDrawer
            opened={opened}
            id={id}
            acts={acts}
            onEdit={edit}
            onClose={() => change({ open: undefined })}
          />
        )}
      </LazyDrawer>
    </ListPage>
  );
}

import { Plural, useLingui } from "@lingui/react/macro";
import { Group, Select, TextInput } from "@mantine/core";
import { IconPencil } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useDeferredValue } from "react";
import type { Image, ImageState } from "@/api/types";
import { everyImage, type ImageFilter, imagesPagesQuery } from "@/queries/images";
import { registriesChoiceQuery } from "@/queries/registries";
import { part } from "@/routing/part";
import { useAddress } from "@/routing/use-address";
import { LazyDrawer } from "@/ui/LazyDrawer";
import { ListPage } from "@/ui/table/ListPage";
import { RowTool } from "@/ui/table/RowTool";
import { serverSort } from "@/ui/table/sorted";
import { useRows } from "@/ui/table/use-rows";
import { EnvironmentsTabs } from "./EnvironmentsTabs";
import { IMAGE_COLUMNS, IMAGE_FIELDS } from "./image-columns";
import { IMAGE_STATES, imageState } from "./image-words";

const ImageDrawer = part(() => import("./ImageDrawer").then((m) => m.ImageDrawer));
const ImageFormDrawer = part(() => import("./ImageForm").then((m) => m.ImageFormDrawer));

const route = getRouteApi("/shell/environments/images");
const idOf = (image: Image) => image.id;
const look = (image: Image) => ({ name: image.name, ended: imageState(image) === "disabled" });

/** The catalogue of images, for those who administer it. */
export function ImagesPage() {
  const { t, i18n } = useLingui();
  const search = route.useSearch();
  const change = useAddress<typeof search>();
  const filter: ImageFilter = {
    q: useDeferredValue(search.q),
    family: useDeferredValue(search.family),
    registry: search.registry,
    state: search.state,
    sort: serverSort(IMAGE_COLUMNS, search),
  };
  const list = useInfiniteQuery(imagesPagesQuery(filter));
  const registries = useQuery(registriesChoiceQuery).data ?? [];
  const { rows, more } = useRows(list);
  const edit = useCallback((image: Image) => change({ form: image.id }), [change]);
  const tools = useCallback(
    (image: Image) => (
      <RowTool label={t`Edit`} row={image.name} icon={IconPencil} onClick={() => edit(image)} />
    ),
    [t, edit],
  );
  const filtered = [search.q, search.family, search.registry, search.state].some(Boolean);

  return (
    <ListPage
      tabs={<EnvironmentsTabs />}
      title={t`Images`}
      name="images"
      search={search}
      onChange={change}
      list={list}
      rows={rows}
      onMore={more}
      rowId={idOf}
      columns={IMAGE_COLUMNS}
      look={look}
      onOpen={useCallback((image: Image) => change({ open: image.id }), [change])}
      tools={tools}
      toolsWidth="3rem"
      minWidth="86rem"
      searched={{ label: t`Search images`, placeholder: t`Name or title` }}
      filters={
        <Group gap="xs">
          <TextInput
            size="xs"
            w={140}
            aria-label={t`Family`}
            placeholder={t`Family`}
            spellCheck={false}
            value={search.family ?? ""}
            onChange={(event) => change({ family: event.currentTarget.value || undefined })}
          />
          <Select
            size="xs"
            w={150}
            aria-label={t`Registry`}
            placeholder={t`Registry`}
            clearable
            searchable
            data={registries.map(({ id, name }) => ({ value: id, label: name }))}
            value={search.registry ?? null}
            onChange={(registry) => change({ registry: registry ?? undefined })}
          />
          <Select
            size="xs"
            w={180}
            aria-label={t`State`}
            placeholder={t`State`}
            clearable
            data={Object.entries(IMAGE_STATES).map(([value, { title }]) => ({
              value,
              label: i18n._(title),
            }))}
            value={search.state ?? null}
            onChange={(state) => change({ state: (state as ImageState | null) ?? undefined })}
          />
        </Group>
      }
      file={{ name: "images", fields: IMAGE_FIELDS, all: () => everyImage(filter) }}
      counted={<Plural value={rows.length} one="# image" other="# images" />}
      empty={
        filtered
          ? { title: t`No images match the filter` }
          : { title: t`No images yet`, text: t`Add a registry and scan it.` }
      }
    >
      <LazyDrawer value={search.form}>
        {(id, opened) => (
          <ImageFormDrawer opened={opened} id={id} onClose={() => change({ form: undefined })} />
        )}
      </LazyDrawer>
      <LazyDrawer value={search.open}>
        {(id, opened) => (
          <ImageDrawer
            opened={opened && search.form === undefined}
            id={id}
            onEdit={edit}
            onClose={() => change({ open: undefined })}
          />
        )}
      </LazyDrawer>
    </ListPage>
  );
}

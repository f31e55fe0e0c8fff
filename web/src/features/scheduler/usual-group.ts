const DEFAULT = "default";

/** The name of the group that is shown while nobody has chosen: the default one where they may use it. */
export function usualGroup(groups: readonly { id: string; name: string }[] | undefined): string {
  return (groups?.find(({ id }) => id === DEFAULT) ?? groups?.[0])?.name ?? DEFAULT;
}

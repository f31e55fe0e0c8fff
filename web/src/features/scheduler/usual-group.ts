const DEFAULT = "default";

/** Name of the initially selected group: the default one if the user may use it. */
export function usualGroup(groups: readonly { id: string; name: string }[] | undefined): string {
  return (groups?.find(({ id }) => id === DEFAULT) ?? groups?.[0])?.name ?? DEFAULT;
}

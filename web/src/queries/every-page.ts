/** All items of a paginated list. */
export async function everyPage<T>(
  ask: (cursor: string | undefined) => Promise<{ data: { items: T[]; next_cursor?: string | null } }>,
): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | undefined;
  do {
    const { data } = await ask(cursor);
    all.push(...data.items);
    cursor = data.next_cursor ?? undefined;
  } while (cursor);
  return all;
}

/** Everything that a list of the server holds, asked for page by page. */
export async function everyPage<T>(
  ask: (cursor: string | undefined) => Promise<{ data: { items: T[]; next_cursor?: string | null } }>,
): Promise<T[]> {
  const found: T[] = [];
  let cursor: string | undefined;
  do {
    const { data } = await ask(cursor);
    found.push(...data.items);
    cursor = data.next_cursor ?? undefined;
  } while (cursor);
  return found;
}

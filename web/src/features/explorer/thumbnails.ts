import { queryOptions } from "@tanstack/react-query";
import type { FileEntry } from "@/api/types";
import { readBeginning } from "@/queries/files";
import { previewKind } from "./kinds";
import { extensionOf } from "./paths";

/** Larger files cost more to download than the thumbnail is worth. */
const MOST_BYTES = 4 * 2 ** 20;
/** Twice the size of the row's picture, for displays with two pixels per point. */
const PIXELS = 56;
const AT_ONCE = 3;

/** Whether the browser can make a thumbnail of the file. Without dimensions of its own, SVG cannot be drawn. */
export const hasThumbnail = ({ kind, name, size_bytes: size, readable }: FileEntry): boolean =>
  kind === "file" &&
  readable &&
  previewKind(name) === "image" &&
  extensionOf(name) !== "svg" &&
  size !== null &&
  size > 0 &&
  size <= MOST_BYTES;

/** Runs acts, a few at once, in the order of the calls. */
export function limited(most: number): <T>(act: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = most;
  return async (act) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((go) => waiting.push(go));
    try {
      return await act();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}

const inTurn = limited(AT_ONCE);

/** The thumbnail of a file at this ETag, as a data URL; null if the content is not an image. */
export function thumbnailQuery(folder: string, { path, etag }: FileEntry) {
  return queryOptions({
    queryKey: ["content", folder, path, etag, "thumbnail"] as const,
    queryFn: ({ signal }) =>
      inTurn(async () => {
        // Rows that have left the view while they waited are not downloaded.
        signal.throwIfAborted();
        const { bytes } = await readBeginning(folder, path, MOST_BYTES, signal);
        return drawn(new Blob([bytes as BlobPart]));
      }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

/** The centre of an image as a square of `PIXELS`. */
async function drawn(file: Blob): Promise<string | null> {
  const image = await createImageBitmap(file).catch(() => null);
  if (!image) return null;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = PIXELS;
  const side = Math.min(image.width, image.height);
  const context = canvas.getContext("2d");
  if (context) context.imageSmoothingQuality = "high";
  context?.drawImage(
    image,
    (image.width - side) / 2,
    (image.height - side) / 2,
    side,
    side,
    0,
    0,
    PIXELS,
    PIXELS,
  );
  image.close();
  return canvas.toDataURL("image/webp", 0.8);
}

import {
  IconFile,
  IconFileCode,
  IconFileText,
  IconFileTypeCsv,
  IconFileUnknown,
  IconFileZip,
  IconFolder,
  IconLink,
  IconNotebook,
  IconPhoto,
} from "@tabler/icons-react";
import type { FileEntry } from "@/api/types";
import { extensionOf } from "./paths";

export type PreviewKind = "image" | "pdf" | "table" | "notebook" | "markdown" | "text";

const IMAGES = ["png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "bmp", "ico"];
const ARCHIVES = ["zip", "gz", "tgz", "tar", "xz", "bz2", "zst", "7z"];
const CODE = [
  "py", "js", "ts", "tsx", "jsx", "json", "yaml", "yml", "toml", "sh", "r", "jl", "c", "h", "cpp", "rs", "go", "java", "sql", "html", "css",
]; // biome-ignore format: one line of words
const MEDIA = /^(audio|video)\//;

/** How to preview a file: by its name, or by its content if the name is inconclusive. */
export function previewKind(name: string): PreviewKind {
  const extension = extensionOf(name);
  if (IMAGES.includes(extension)) return "image";
  if (extension === "pdf") return "pdf";
  if (extension === "csv" || extension === "tsv") return "table";
  if (extension === "ipynb") return "notebook";
  return extension === "md" || extension === "markdown" ? "markdown" : "text";
}

/** Whether a file can be edited as text. */
export const isEditable = (name: string): boolean => !["image", "pdf"].includes(previewKind(name));

/** Whether a file is certainly not text. */
export const isOpaque = ({ name, type }: FileEntry): boolean =>
  ARCHIVES.includes(extensionOf(name)) || MEDIA.test(type ?? "");

export function iconOf({ kind, name }: FileEntry): typeof IconFile {
  if (kind === "directory") return IconFolder;
  if (kind === "link") return IconLink;
  if (kind === "other") return IconFileUnknown;
  const extension = extensionOf(name);
  if (IMAGES.includes(extension)) return IconPhoto;
  if (ARCHIVES.includes(extension)) return IconFileZip;
  if (extension === "csv" || extension === "tsv") return IconFileTypeCsv;
  if (extension === "ipynb") return IconNotebook;
  if (CODE.includes(extension)) return IconFileCode;
  return ["md", "txt", "log", "rst"].includes(extension) ? IconFileText : IconFile;
}

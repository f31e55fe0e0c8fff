/** Drag data within the page: files of a folder. */
interface Dragged {
  folder: string;
  paths: string[];
}

const KIND = "application/x-carrel-files";

/** Sets the drag data of files. */
export function beginDrag(transfer: DataTransfer, dragged: Dragged): void {
  transfer.setData(KIND, JSON.stringify(dragged));
  transfer.effectAllowed = "copyMove";
}

/** The type of the drag data, as far as the browser reveals it before the drop. */
export function draggedKind(transfer: DataTransfer): "files" | "desktop" | null {
  if (transfer.types.includes(KIND)) return "files";
  return transfer.types.includes("Files") ? "desktop" : null;
}

export function readDrag(transfer: DataTransfer): Dragged | null {
  const text = transfer.getData(KIND);
  return text ? (JSON.parse(text) as Dragged) : null;
}

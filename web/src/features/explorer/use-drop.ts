import { type DragEvent, useRef, useState } from "react";
import { type Dropped, readDropped } from "@/features/uploads/dropped";
import { draggedKind, readDrag } from "./dragging";

export interface DropActs {
  /** Files of a folder were dropped on a directory. */
  onFiles: (from: { folder: string; paths: string[] }, directory: string, copy: boolean) => void;
  /** Files and directories from the desktop were dropped. */
  onDesktop: (dropped: Dropped, directory: string) => void;
}

/** Makes an element a drop target; `over`: an acceptable drag is over it. */
export function useDrop(directory: string, acts: DropActs, refusal: string | null) {
  const [over, setOver] = useState(false);
  // Moving onto a child fires `dragenter` of the child before `dragleave` of the element.
  const depth = useRef(0);
  const takes = (event: DragEvent) => refusal === null && draggedKind(event.dataTransfer) !== null;
  const leave = () => {
    depth.current = 0;
    setOver(false);
  };
  return {
    over,
    handlers: {
      onDragEnter: (event: DragEvent) => {
        if (!takes(event)) return;
        event.preventDefault();
        event.stopPropagation();
        depth.current += 1;
        setOver(true);
      },
      onDragOver: (event: DragEvent) => {
        if (!takes(event)) return;
        event.preventDefault();
        event.stopPropagation();
        const copy = draggedKind(event.dataTransfer) === "desktop" || event.ctrlKey || event.altKey;
        event.dataTransfer.dropEffect = copy ? "copy" : "move";
      },
      onDragLeave: (event: DragEvent) => {
        if (!takes(event)) return;
        event.stopPropagation();
        depth.current -= 1;
        if (depth.current <= 0) leave();
      },
      onDrop: (event: DragEvent) => {
        if (!takes(event)) return;
        event.preventDefault();
        event.stopPropagation();
        leave();
        const from = readDrag(event.dataTransfer);
        if (from) acts.onFiles(from, directory, event.ctrlKey || event.altKey);
        else void readDropped(event.dataTransfer).then((dropped) => acts.onDesktop(dropped, directory));
      },
    },
  };
}

import { useLingui } from "@lingui/react/macro";
import { nameFault } from "./paths";

/** The message for an invalid file name; null if it is valid. */
export function useNameFault(): (name: string) => string | null {
  const { t } = useLingui();
  return (name) => {
    switch (nameFault(name)) {
      case "empty":
        return t`Enter a name.`;
      case "slash":
        return t`A name cannot contain /.`;
      case "dots":
        return t`The names . and .. are reserved.`;
      case "long":
        return t`The name is too long.`;
      default:
        return null;
    }
  };
}

import { useLingui } from "@lingui/react/macro";
import { nameFault } from "./paths";

/** Why a file or directory cannot be called so, in words; null when it can. */
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

import { useLingui } from "@lingui/react/macro";
import { nameFault } from "./paths";

/** Why a file or directory cannot be called so, in words; null when it can. */
export function useNameFault(): (name: string) => string | null {
  const { t } = useLingui();
  return (name) => {
    switch (nameFault(name)) {
      case "empty":
        return t`A name is needed.`;
      case "slash":
        return t`A name has no / in it.`;
      case "dots":
        return t`This name means a directory already.`;
      case "long":
        return t`The name is too long.`;
      default:
        return null;
    }
  };
}

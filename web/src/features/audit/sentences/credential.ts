import { msg } from "@lingui/core/macro";
import type { Voice } from "./voice";

/** How somebody was signed in: in a browser, by a keypair, by a provider. */
export function credentialText(credential: string, { say }: Voice): string {
  const [kind = "", ...rest] = credential.split(":");
  const name = rest.join(":");
  switch (kind) {
    case "carrel":
      return "Carrel";
    case "cookie":
      return say(msg`Browser`);
    case "keypair":
      return name ? say(msg`Keypair ${name}`) : say(msg`Keypair`);
    case "token":
      return name ? say(msg`Token ${name}`) : say(msg`Token`);
    case "link":
      return say(msg`Link by e-mail`);
    case "sign-up":
      return say(msg`Sign-up`);
    case "password":
      return say(msg`Password`);
    case "passkey":
      return say(msg`Passkey`);
    default:
      return name ? say(msg`Identity provider ${name}`) : credential;
  }
}

import { i18n } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { authPasskeyOptions, passkeysOptions } from "./generated/sdk.gen";
import { Problem } from "./problem";
import type { PasskeyCredential } from "./types";

/** True when this browser supports passkeys on this origin. */
export const takesPasskeys = (): boolean =>
  typeof PublicKeyCredential !== "undefined" && "parseRequestOptionsFromJSON" in PublicKeyCredential;

/** An assertion by a passkey: of any user to sign in, or of the user whose sign-in has begun. */
export async function provePasskey(): Promise<PasskeyCredential> {
  const { data } = await authPasskeyOptions();
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    data.options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  return written(() => navigator.credentials.get({ publicKey }));
}

/** A new passkey, created by the browser and not yet registered with the server. */
export async function makePasskey(): Promise<PasskeyCredential> {
  const { data } = await passkeysOptions();
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    data.options as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  return written(() => navigator.credentials.create({ publicKey }));
}

async function written(ask: () => Promise<Credential | null>): Promise<PasskeyCredential> {
  try {
    const made = (await ask()) as PublicKeyCredential;
    return made.toJSON() as PasskeyCredential;
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    const known = error.name === "InvalidStateError";
    throw new Problem({
      status: 400,
      code: known ? "passkey.exists" : "passkey.cancelled",
      detail: known
        ? i18n._(msg`This device already has a passkey for your account.`)
        : i18n._(
            msg`The browser returned no passkey: you cancelled, or this device has no passkey for this site.`,
          ),
      hint: known ? null : i18n._(msg`Try again, or choose another method.`),
    });
  }
}

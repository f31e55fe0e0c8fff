import { useLingui } from "@lingui/react/macro";

/** The e-mail that the server gives to the rows of permanently deleted users. */
const DELETED = /^purged-[a-z0-9]+$/;

/** The e-mail of a user, or that the user was deleted. */
export function AccountName({ email }: { email: string }) {
  const { t } = useLingui();
  return DELETED.test(email) ? t`Deleted user` : email;
}

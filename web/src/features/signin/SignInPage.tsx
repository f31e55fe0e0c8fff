import { useLingui } from "@lingui/react/macro";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate, useRouter } from "@tanstack/react-router";
import { useCallback, useEffect, useState } from "react";
import { saveLanguageChosenBeforeSignIn } from "@/me/preferences";
import { authMeQuery } from "@/queries/auth";
import { CredentialsForm } from "./CredentialsForm";
import { EnrolStep } from "./EnrolStep";
import { EntryCard } from "./EntryCard";
import { ForcedPasswordStep } from "./ForcedPasswordStep";
import { SecondStep } from "./SecondStep";

const route = getRouteApi("/signin");

/**
 * Sign-in, step by step, as the server requires.
 *
 * The server alone decides the step, so a reload shows the same one.
 */
export function SignInPage() {
  const { t } = useLingui();
  const { next, error, provider } = route.useSearch();
  const navigate = useNavigate();
  const router = useRouter();
  const client = useQueryClient();
  // The route has fetched the current user; each step stores its response here.
  const { data: me } = useQuery({ ...authMeQuery, enabled: false });
  const [password, setPassword] = useState<string>();
  const [codes, setCodes] = useState<string[]>();
  const pending = me?.pending ?? null;
  const done = me !== undefined && pending === null && codes === undefined;

  const enter = useCallback(() => {
    void saveLanguageChosenBeforeSignIn(client);
    if (next) router.history.push(next);
    else void navigate({ to: "/" });
  }, [client, next, router, navigate]);
  useEffect(() => {
    if (done) enter();
  }, [done, enter]);

  if (codes || pending === "enrol") {
    return (
      <EntryCard
        title={codes ? t`Save your recovery codes` : t`Set up two-factor authentication`}
        text={codes ? undefined : t`This site requires two-factor authentication.`}
      >
        <EnrolStep codes={codes} onCodes={setCodes} onDone={() => setCodes(undefined)} />
      </EntryCard>
    );
  }
  if (pending === "factor") {
    return (
      <EntryCard title={t`Two-factor authentication`} text={me?.user.email}>
        <SecondStep />
      </EntryCard>
    );
  }
  if (pending === "password") {
    return (
      <EntryCard title={t`Choose a new password`} text={t`You must change your password to continue.`}>
        <ForcedPasswordStep user={me?.user} current={password} />
      </EntryCard>
    );
  }
  return (
    <EntryCard title={t`Sign in`} text={t`Your own compute sessions on shared machines.`}>
      <CredentialsForm next={next} failed={error} provider={provider} busy={done} onPassword={setPassword} />
    </EntryCard>
  );
}

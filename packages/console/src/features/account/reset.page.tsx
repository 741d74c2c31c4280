import { Button, Flex, Text } from "@chakra-ui/react";
import { useState, type FormEvent } from "react";
import { Link, useSearchParams } from "react-router";
import { useForm } from "../../lib/use-form.ts";
import { CopyButton } from "../../ui/content/copy-button.tsx";
import { TextField } from "../../ui/form/field.tsx";
import { problemText } from "../../ui/feedback/toaster.ts";
import { AccountFrame, Alert } from "./account-frame.tsx";
import { askForResetLink, takeNewPassword } from "./api.ts";
import { useCooldown } from "../../shared/identity/cooldown.ts";
import { useHumanCheck } from "../../shared/identity/human-check.tsx";
import { useTexts } from "./texts.ts";

function ToLogin() {
  const t = useTexts();
  return (
    <Text textStyle="sm" mt="4" textAlign="center">
      <Link className="link" to="/login">
        {t("toLogin")}
      </Link>
    </Text>
  );
}

/** Requests a mail with a link to a new password. */
export function ResetPage() {
  const t = useTexts();
  const [failure, setFailure] = useState<string>();
  const [isSent, setSent] = useState(false);
  const cooldown = useCooldown();
  const human = useHumanCheck();
  const form = useForm({
    initial: { email: "" },
    check: ({ email }) => (email.trim() === "" ? { email: t("emailMissing") } : {}),
    save: async ({ email }) => {
      setFailure(undefined);
      await askForResetLink(email.trim(), human.proof);
    },
    onProblem: (problem) => {
      human.noteProblem(problem);
      setFailure(problemText(problem));
    },
  });
  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (human.isMissing) return setFailure(human.waitText);
    if (cooldown.wait > 0 || !(await form.submit())) return;
    setSent(true);
    cooldown.start();
  }
  return (
    <AccountFrame title={t("resetTitle")}>
      {failure !== undefined && <Alert text={failure} isFailure />}
      {failure === undefined && isSent && <Alert text={t("resetSent")} isFailure={false} />}
      <form noValidate onSubmit={(event) => void submit(event)}>
        <Flex direction="column" gap="4">
          <TextField label={t("email")} type="email" autoComplete="email" {...form.input("email")} />
          {human.widget}
          <Button type="submit" size="lg" width="full" loading={form.isSaving} disabled={cooldown.wait > 0}>
            {cooldown.wait > 0 ? t("sendAgainIn", { seconds: cooldown.wait }) : t("sendLink")}
          </Button>
        </Flex>
      </form>
      <ToLogin />
    </AccountFrame>
  );
}

/** The page of the mailed link: it shows a new password, once. */
export function NewPasswordPage() {
  const t = useTexts();
  const [search] = useSearchParams();
  const [failure, setFailure] = useState<string>();
  const [password, setPassword] = useState<string>();
  const [isAsking, setAsking] = useState(false);
  const email = search.get("email") ?? "";
  function take(): void {
    setAsking(true);
    takeNewPassword(email, search.get("token") ?? "")
      .then(setPassword, (problem: unknown) => setFailure(problemText(problem)))
      .finally(() => setAsking(false));
  }
  return (
    <AccountFrame title={t("resetTitle")}>
      {failure !== undefined && <Alert text={failure} isFailure />}
      {password === undefined ? (
        <Flex direction="column" gap="4">
          <Text textStyle="sm">{t("newPasswordFor", { email })}</Text>
          <Button size="lg" width="full" loading={isAsking} onClick={take}>
            {t("takePassword")}
          </Button>
        </Flex>
      ) : (
        <Flex direction="column" gap="3">
          <Text textStyle="sm">{t("newPasswordIs")}</Text>
          <Flex align="center" gap="2">
            <Text fontFamily="mono" data-testid="new-password" overflowWrap="anywhere">
              {password}
            </Text>
            <CopyButton text={password} label={t("copyPassword")} />
          </Flex>
        </Flex>
      )}
      <ToLogin />
    </AccountFrame>
  );
}

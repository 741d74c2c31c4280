import { characters, PASSWORD_MIN, register } from "@fairway/wire";
import { Button, Flex, Text } from "@chakra-ui/react";
import { useEffect, useState, type FormEvent } from "react";
import { Link, useNavigate, useSearchParams } from "react-router";
import { EmailFields } from "../../shared/identity/email-fields.tsx";
import { useHumanCheck, type HumanCheck } from "../../shared/identity/human-check.tsx";
import { useStatus } from "../../session/status.ts";
import { call } from "../../lib/http.ts";
import { ApiProblem } from "../../lib/problems.ts";
import { stored } from "../../lib/storage.ts";
import { useForm } from "../../lib/use-form.ts";
import { SecretField, TextField } from "../../ui/form/field.tsx";
import { problemText, toast } from "../../ui/feedback/toaster.ts";
import { AccountFrame, Alert } from "./account-frame.tsx";
import { useTexts } from "./texts.ts";

const EMPTY = { username: "", password: "", repeated: "", email: "", code: "" };

function useRegister(human: HumanCheck, onDone: () => void) {
  const t = useTexts();
  const [search] = useSearchParams();
  const [failure, setFailure] = useState<string>();
  const invited = search.get("aff");
  useEffect(() => {
    if (invited !== null) stored.invitation.write(invited);
  }, [invited]);
  const form = useForm({
    initial: EMPTY,
    check: ({ username, password, repeated }) => ({
      ...(username.trim() === "" && { username: t("missing") }),
      ...(characters(password) < PASSWORD_MIN && { password: t("passwordShort") }),
      ...(password !== repeated && { repeated: t("passwordDiffer") }),
    }),
    save: async ({ username, password, repeated, email, code }) => {
      setFailure(undefined);
      await call(register, {
        extraQuery: human.proof,
        body: {
          username: username.trim(),
          password,
          password2: repeated,
          email: email.trim(),
          verification_code: code.trim(),
          aff_code: stored.invitation.read() ?? "",
        },
      });
      stored.invitation.write(undefined);
    },
    onProblem: (problem) => {
      human.noteProblem(problem);
      setFailure(problem instanceof ApiProblem ? problem.message : problemText(problem));
    },
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (human.isMissing) setFailure(human.waitText);
    else if (await form.submit()) onDone();
  };
  return { form, failure, submit };
}

export function RegisterPage() {
  const t = useTexts();
  const status = useStatus();
  const navigate = useNavigate();
  const human = useHumanCheck();
  const { form, failure, submit } = useRegister(human, () => {
    toast("success", t("registered"));
    void navigate("/login", { replace: true });
  });
  const isOpen = status.register_enabled && status.password_register_enabled;
  return (
    <AccountFrame title={t("registerTitle")}>
      {failure !== undefined && <Alert text={failure} isFailure />}
      {isOpen ? (
        <form noValidate onSubmit={(event) => void submit(event)}>
          <Flex direction="column" gap="4">
            <TextField
              label={t("username")}
              help={t("usernameHelp")}
              autoComplete="username"
              {...form.input("username")}
            />
            <SecretField
              label={t("password")}
              help={t("passwordHelp")}
              autoComplete="new-password"
              {...form.input("password")}
            />
            <SecretField label={t("repeatPassword")} autoComplete="new-password" {...form.input("repeated")} />
            {status.email_verification && <EmailFields form={form} human={human} />}
            {human.widget}
            <Button type="submit" size="lg" width="full" loading={form.isSaving}>
              {t("register")}
            </Button>
          </Flex>
        </form>
      ) : (
        <Alert text={t("registerOff")} isFailure={false} />
      )}
      <Text textStyle="sm" mt="4" textAlign="center">
        <Link className="link" to="/login">
          {t("toLogin")}
        </Link>
      </Text>
    </AccountFrame>
  );
}

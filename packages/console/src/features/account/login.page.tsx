import { login } from "@fairway/wire";
import { Button, Flex } from "@chakra-ui/react";
import { useEffect, useState, type FormEvent } from "react";
import { Link, Navigate, useNavigate, useSearchParams } from "react-router";
import { hasDefaultPassword, setUser } from "../../session/session.ts";
import { useStatus } from "../../session/status.ts";
import { call } from "../../lib/http.ts";
import { ApiProblem } from "../../lib/problems.ts";
import { safeReturnPath } from "../../lib/url-state.ts";
import { useForm } from "../../lib/use-form.ts";
import { SecretField, TextField } from "../../ui/form/field.tsx";
import { startSignIn } from "../../shared/identity/services.ts";
import { problemText, toastProblem } from "../../ui/feedback/toaster.ts";
import { AccountFrame, Alert } from "./account-frame.tsx";
import { useHumanCheck, type HumanCheck } from "../../shared/identity/human-check.tsx";
import { CompanyOffer, useCompany, type Company } from "./company.tsx";
import { PasskeyButton } from "./passkey-button.tsx";
import { Services } from "./services.tsx";
import { useTexts } from "./texts.ts";
import { WechatButton } from "./wechat-button.tsx";

/** The account of every new installation. */
const FIRST_USER = "root";
const FIRST_PASSWORD = "123456";
const EMPTY = { username: "", password: "", code: "" };
/** The error code of a sign-in that lacks the second factor. */
const CODE_WANTED = "second_factor_required";

/** Signs in and shows what went wrong; on success the caller leaves the page. */
function useLogin(human: HumanCheck, company: Company, onDone: () => void) {
  const t = useTexts();
  const [failure, setFailure] = useState<string>();
  const [needsCode, setNeedsCode] = useState(false);
  const noteRefusal = (problem: unknown): never => {
    human.noteProblem(problem);
    if (problem instanceof ApiProblem && problem.key === CODE_WANTED) setNeedsCode(true);
    throw problem;
  };
  const form = useForm({
    initial: EMPTY,
    check: ({ username, password }) => {
      const isMissing = username.trim() === "" || password === "";
      setFailure(isMissing ? t("missing") : undefined);
      return {
        ...(username.trim() === "" && { username: t("missing") }),
        ...(password === "" && { password: t("missing") }),
      };
    },
    save: async ({ username, password, code }) => {
      const second = code.trim() === "" ? {} : { code: code.trim() };
      const body = { username: username.trim(), password, ...second };
      setUser(await call(login, { body, extraQuery: human.proof }).catch(noteRefusal));
      hasDefaultPassword.write(username.trim() === FIRST_USER && password === FIRST_PASSWORD);
    },
    onProblem: (problem) => {
      setFailure(problem instanceof ApiProblem ? problem.message : problemText(problem));
    },
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const { username, password } = form.values;
    const own = password === "" ? await company.find(username) : undefined;
    if (own) return startSignIn(own).catch(toastProblem);
    if (human.isMissing) setFailure(human.waitText);
    else if (await form.submit()) onDone();
  };
  useEffect(() => {
    if (needsCode) document.querySelector<HTMLInputElement>('input[name="code"]')?.focus();
  }, [needsCode]);
  return { form, failure, setFailure, needsCode, submit };
}

export function LoginPage() {
  const t = useTexts();
  const status = useStatus();
  const navigate = useNavigate();
  const [search] = useSearchParams();
  const human = useHumanCheck();
  const leave = () => void navigate(safeReturnPath(search.get("next"), "/token"), { replace: true });
  const company = useCompany();
  const { form, failure, setFailure, needsCode, submit } = useLogin(human, company, leave);
  if (!status.setup) return <Navigate to="/setup" replace />;
  return (
    <AccountFrame title={t("title")}>
      {failure !== undefined && <Alert text={failure} isFailure />}
      {failure === undefined && search.get("expired") === "true" && <Alert text={t("expired")} isFailure={false} />}
      {status.password_login_enabled ? (
        <form noValidate onSubmit={(event) => void submit(event)}>
          <Flex direction="column" gap="4">
            <TextField
              label={t("username")}
              name="username"
              autoComplete="username"
              value={form.values.username}
              error={form.errors.username === undefined ? undefined : ""}
              onChange={(value) => form.set("username", value)}
              onBlur={() => void company.find(form.values.username)}
            />
            <CompanyOffer service={company.service} />
            <SecretField
              label={t("password")}
              name="password"
              autoComplete="current-password"
              value={form.values.password}
              error={form.errors.password === undefined ? undefined : ""}
              onChange={(value) => form.set("password", value)}
            />
            {needsCode && (
              <TextField label={t("code")} help={t("codeHelp")} autoComplete="one-time-code" {...form.input("code")} />
            )}
            {human.widget}
            <Button type="submit" size="lg" width="full" loading={form.isSaving}>
              {t("submit")}
            </Button>
          </Flex>
        </form>
      ) : (
        <Alert text={t("passwordOff")} isFailure={false} />
      )}
      <PasskeyButton onDone={leave} onFailure={setFailure} />
      <Services />
      <WechatButton onDone={() => void navigate("/", { replace: true })} />
      <Flex textStyle="sm" mt="4" gap="6" justify="center">
        {status.register_enabled && status.password_register_enabled && (
          <Link className="link" to="/register">
            {t("toRegister")}
          </Link>
        )}
        <Link className="link" to="/reset">
          {t("forgot")}
        </Link>
      </Flex>
    </AccountFrame>
  );
}

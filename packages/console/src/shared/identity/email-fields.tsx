import { sendEmailCode } from "@fairway/wire";
import { Button } from "@chakra-ui/react";
import { call } from "../../lib/http.ts";
import type { Form } from "../../lib/use-form.ts";
import { TextField } from "../../ui/form/field.tsx";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { useCooldown } from "./cooldown.ts";
import type { HumanCheck } from "./human-check.tsx";
import { useTexts } from "./texts.ts";

/** The part of a form that proves an address with a mailed code. */
export type EmailForm = Pick<Form<{ email: string; code: string }>, "values" | "errors" | "set">;

export function EmailFields({ form, human }: { readonly form: EmailForm; readonly human: HumanCheck }) {
  const t = useTexts();
  const { values, errors, set } = form;
  const cooldown = useCooldown();
  const send = () => {
    if (human.isMissing) return toast("error", human.waitText);
    cooldown.start();
    call(sendEmailCode, { query: { email: values.email.trim() }, extraQuery: human.proof }).then(
      () => toast("success", t("codeSent")),
      (problem: unknown) => {
        cooldown.end();
        human.noteProblem(problem);
        toastProblem(problem);
      },
    );
  };
  return (
    <>
      <TextField
        label={t("email")}
        type="email"
        name="email"
        autoComplete="email"
        value={values.email}
        error={errors.email}
        onChange={(value) => set("email", value)}
      />
      <Button variant="outline" size="sm" disabled={cooldown.wait > 0 || values.email.trim() === ""} onClick={send}>
        {cooldown.wait > 0 ? t("sendAgainIn", { seconds: cooldown.wait }) : t("sendCode")}
      </Button>
      <TextField
        label={t("emailCode")}
        name="code"
        autoComplete="one-time-code"
        value={values.code}
        error={errors.code}
        onChange={(value) => set("code", value)}
      />
    </>
  );
}

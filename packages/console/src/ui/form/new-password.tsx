import { characters, PASSWORD_MIN } from "@fairway/wire";
import { useForm, type Form } from "../../lib/use-form.ts";
import { SecretField } from "./field.tsx";
import { useTexts } from "../texts.ts";
import { toast, toastProblem } from "../feedback/toaster.ts";

interface Draft {
  readonly password: string;
  readonly repeated: string;
}

const EMPTY: Draft = { password: "", repeated: "" };

/** A form for a password that is typed twice; the fields are cleared after saving. */
export function useNewPassword(save: (password: string) => Promise<unknown>): Form<Draft> {
  const t = useTexts();
  const form = useForm({
    initial: EMPTY,
    check: ({ password, repeated }) => ({
      ...(characters(password) < PASSWORD_MIN && { password: t("passwordShort") }),
      ...(password !== repeated && { repeated: t("passwordDiffer") }),
    }),
    save: async ({ password }) => {
      await save(password);
      form.set("password", "");
      form.set("repeated", "");
      toast("success", t("passwordChanged"));
    },
    onProblem: toastProblem,
  });
  return form;
}

export function NewPasswordFields({ form }: { readonly form: Form<Draft> }) {
  const t = useTexts();
  return (
    <>
      <SecretField
        label={t("newPassword")}
        value={form.values.password}
        error={form.errors.password}
        autoComplete="new-password"
        onChange={(value) => form.set("password", value)}
      />
      <SecretField
        label={t("repeatPassword")}
        value={form.values.repeated}
        error={form.errors.repeated}
        autoComplete="new-password"
        onChange={(value) => form.set("repeated", value)}
      />
    </>
  );
}

import type { IdentityProvider } from "@fairway/wire";
import { useRef } from "react";
import { useNavigate } from "react-router";
import { useForm } from "../../lib/use-form.ts";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { DrawerForm, DrawerShell } from "../../ui/form/form-drawer.tsx";
import { EditDrawer } from "../../ui/form/resource-drawer.tsx";
import { useCloseTo } from "../../ui/form/use-close-to.ts";
import type { Edited } from "../../ui/form/use-edited.ts";
import { createProvider, editedProviderQuery, LIST_PATH, saveProvider } from "./api.ts";
import { ConnectionFields, PeopleFields, SessionFields } from "./form/fields.tsx";
import {
  checkProvider,
  NEW_PROVIDER,
  toNewProvider,
  toProviderChange,
  toProviderDraft,
  type ProviderDraft,
} from "./form/provider-form.ts";
import { useTexts } from "./texts.ts";

export function AddProvider() {
  const t = useTexts();
  const close = useCloseTo(LIST_PATH);
  return (
    <DrawerShell kind="create" title={t("add")} onClose={close}>
      <ProviderForm initial={NEW_PROVIDER} edited={undefined} />
    </DrawerShell>
  );
}

export function EditProvider() {
  const t = useTexts();
  return (
    <EditDrawer
      title={t("edit")}
      list={LIST_PATH}
      query={editedProviderQuery}
      toDraft={toProviderDraft}
      form={(initial, edited) => <ProviderForm initial={initial} edited={edited} />}
    />
  );
}

interface FormProps {
  readonly initial: ProviderDraft;
  readonly edited: Edited<IdentityProvider> | undefined;
}

function ProviderForm({ initial, edited }: FormProps) {
  const t = useTexts();
  const navigate = useNavigate();
  const made = useRef<number>(undefined);
  const form = useForm<ProviderDraft>({
    initial,
    check: (draft) =>
      Object.fromEntries(
        Object.entries(checkProvider(draft, edited === undefined)).map(([name, key]) => [name, t(key)]),
      ),
    save: async (draft) => {
      if (edited) {
        await saveProvider(edited, toProviderChange(draft));
        toast("success", t("saved", { name: draft.name.trim() }));
        return;
      }
      made.current = (await createProvider(toNewProvider(draft))).id;
    },
    onProblem: edited?.onProblem ?? toastProblem,
  });
  return (
    <DrawerForm
      form={form}
      list={LIST_PATH}
      createLabel={edited === undefined ? t("create") : undefined}
      onSaved={() => made.current !== undefined && void navigate(`${LIST_PATH}/${made.current}`)}
    >
      <ConnectionFields form={form} isNew={edited === undefined} />
      <PeopleFields form={form} />
      <SessionFields form={form} />
    </DrawerForm>
  );
}

import { Button, Drawer, Flex, Heading, Portal, Text } from "@chakra-ui/react";
import { useEffect, useId, useRef, type FormEvent, type ReactNode } from "react";
import type { Form } from "../../lib/use-form.ts";
import { LoadFailed, Loading } from "../feedback/empty.tsx";
import { stayForToasts } from "../feedback/outside.ts";
import { Icon } from "../display/icon.tsx";
import { IconButton } from "../display/icon-button.tsx";
import { useTexts } from "../texts.ts";
import { useCloseTo } from "./use-close-to.ts";
import { useUnsavedGuard } from "../feedback/unsaved-guard.ts";

/** The side from which each kind of drawer opens, as in compatible consoles. */
const DRAWER_SIDE = { create: "start", edit: "end" } as const;

const FORM_ID = "drawer-form";

function firstField(form: HTMLElement | null): HTMLElement | null {
  return form?.querySelector<HTMLElement>("input, select, textarea") ?? null;
}

interface DrawerShellProps {
  readonly kind: keyof typeof DRAWER_SIDE;
  readonly title: string;
  readonly mark?: ReactNode;
  /** Leaves the drawer's route; a form with unsaved input asks first. */
  onClose(): void;
  readonly children: ReactNode;
}

/** The drawer of every create and edit form: 600 px, full width on phones, route-driven. */
export function DrawerShell(props: DrawerShellProps) {
  const t = useTexts();
  return (
    <Drawer.Root
      open
      placement={DRAWER_SIDE[props.kind]}
      onOpenChange={(change) => !change.open && props.onClose()}
      // Only a click outside and Escape close it: focus also moves when other dialogs open and close.
      onFocusOutside={(event) => event.preventDefault()}
      onInteractOutside={stayForToasts}
      initialFocusEl={() => firstField(document.getElementById(FORM_ID))}
    >
      <Portal>
        <Drawer.Backdrop />
        <Drawer.Positioner>
          <Drawer.Content>
            <Drawer.Header>
              <Drawer.Title>{props.title}</Drawer.Title>
              {props.mark}
              <IconButton label={t("close")} hasTip={false} onClick={props.onClose}>
                <Icon name="close" />
              </IconButton>
            </Drawer.Header>
            {props.children}
          </Drawer.Content>
        </Drawer.Positioner>
      </Portal>
    </Drawer.Root>
  );
}

/** The drawer while its row is loading, or if that failed. */
export function DrawerLoading(props: { readonly problem: unknown; onRetry(): void }) {
  return (
    <Drawer.Body>
      {props.problem ? <LoadFailed problem={props.problem} onRetry={props.onRetry} /> : <Loading />}
    </Drawer.Body>
  );
}

interface DrawerFormProps {
  readonly form: Pick<Form<object>, "isDirty" | "isSaving" | "submit">;
  /** Path of the list that opens after closing. */
  readonly list: string;
  /** The label of the button that creates a row; undefined for a form that saves one. */
  readonly createLabel: string | undefined;
  /** Called after saving, while the drawer is closing. */
  onSaved?(): void;
  readonly extraActions?: ReactNode;
  /** Stays above the fields while they scroll. */
  readonly head?: ReactNode;
  /** Stays below the fields while they scroll. */
  readonly dock?: ReactNode;
  readonly children: ReactNode;
}

/** Body and footer of a drawer that holds a form. */
export function DrawerForm(props: DrawerFormProps) {
  const t = useTexts();
  const { isDirty, isSaving, submit: save } = props.form;
  const close = useCloseTo(props.list);
  const release = useUnsavedGuard(isDirty);
  const form = useRef<HTMLFormElement>(null);
  // The row may arrive after the drawer has opened.
  useEffect(() => firstField(form.current)?.focus(), []);

  async function submit(event?: FormEvent): Promise<void> {
    event?.preventDefault();
    if (isSaving) return;
    if (await save()) {
      release();
      // A user who left during the save stays on the new page.
      if (form.current) close();
      props.onSaved?.();
      return;
    }
    // Errors appear with the next paint; then the first of them gets the focus.
    requestAnimationFrame(() =>
      form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-invalid] input')?.focus(),
    );
  }

  return (
    <>
      {props.head}
      <Drawer.Body>
        <form
          ref={form}
          id={FORM_ID}
          noValidate
          autoComplete="off"
          onSubmit={(event) => void submit(event)}
          onKeyDown={(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && void submit(event)}
        >
          <Flex direction="column" gap="5">
            {props.children}
          </Flex>
        </form>
      </Drawer.Body>
      {props.dock}
      <Drawer.Footer justifyContent="flex-start">
        <Button type="submit" form={FORM_ID} loading={isSaving} loadingText={t("saving")}>
          {props.createLabel ?? t("save")}
        </Button>
        {props.extraActions}
        <Button variant="outline" onClick={close}>
          {t("cancel")}
        </Button>
        {isDirty && (
          <Text textStyle="xs" color="fg.muted" ms="auto">
            {t("unsaved")}
          </Text>
        )}
      </Drawer.Footer>
    </>
  );
}

/** A titled group of fields inside a drawer. */
export function FormSection(props: {
  readonly title: string;
  readonly aside?: ReactNode;
  /** The element's own id, for links to the section. */
  readonly anchor?: string;
  readonly children: ReactNode;
}) {
  const id = useId();
  return (
    <Flex
      {...(props.anchor === undefined ? {} : { id: props.anchor, scrollMarginTop: "4" })}
      role="group"
      aria-labelledby={id}
      direction="column"
      gap="4"
      borderWidth="1px"
      borderRadius="l3"
      bg="bg.panel"
      p="4"
      minW="0"
    >
      <Flex align="center" gap="2">
        <Heading as="h3" id={id} textStyle="md" fontWeight="semibold" flex="1">
          {props.title}
        </Heading>
        {props.aside}
      </Flex>
      {props.children}
    </Flex>
  );
}

/** Changes to Chakra's recipes; everything not named here keeps its default. */
export const recipes = {
  button: {
    base: { fontWeight: "medium", borderRadius: "l2", transitionDuration: "fast", cursor: "pointer" },
    variants: {
      size: {
        xs: { h: "7", minW: "7", px: "2", textStyle: "xs" },
        sm: { h: "8", minW: "8", px: "3", textStyle: "sm" },
        md: { h: "9", minW: "9", px: "4", textStyle: "sm" },
        lg: { h: "10", minW: "10", px: "5", textStyle: "md" },
      },
      variant: {
        outline: {
          "--outline-color": "colors.border.emphasized",
          bg: "bg.panel",
          color: "fg",
          _hover: { bg: "bg.hover" },
          _expanded: { bg: "bg.hover" },
        },
        ghost: { color: "fg", _hover: { bg: "bg.emphasized" }, _expanded: { bg: "bg.emphasized" } },
      },
    },
    defaultVariants: { size: "sm" },
  },
  input: {
    variants: {
      size: { sm: { "--input-height": "sizes.8" }, md: { "--input-height": "sizes.9" } },
      variant: { outline: { borderColor: "border.input", bg: "bg.panel" } },
    },
    defaultVariants: { size: "sm" },
  },
  textarea: {
    variants: { variant: { outline: { borderColor: "border.input", bg: "bg.panel" } } },
    defaultVariants: { size: "sm" },
  },
} as const;

export const slotRecipes = {
  nativeSelect: {
    base: { field: { cursor: "pointer", "& > option": { bg: "bg.panel" } } },
    variants: {
      size: { sm: { root: { "--select-field-height": "sizes.8" } } },
      variant: { outline: { field: { borderColor: "border.input", bg: "bg.panel" } } },
    },
    defaultVariants: { size: "sm" },
  },
  field: { base: { label: { textStyle: "sm", fontWeight: "medium" }, helperText: { textStyle: "xs" } } },
  drawer: {
    base: {
      backdrop: {
        bg: "rgb(8 21 29 / 45%)",
        _open: { animationDuration: "fast" },
        _closed: { animationDuration: "fast" },
      },
      content: {
        maxW: { base: "100vw", sm: "600px" },
        bg: "bg",
        _open: { animationDuration: "180ms" },
        _closed: { animationDuration: "120ms" },
      },
      header: { px: "5", pt: "4", pb: "4", bg: "bg.panel", borderBottomWidth: "1px", flex: "0 0 auto" },
      body: { px: "5", py: "5" },
      footer: { px: "5", py: "3", bg: "bg.panel", borderTopWidth: "1px" },
      closeTrigger: { top: "3", insetEnd: "3" },
      title: { textStyle: "lg" },
    },
    variants: { size: { xs: { content: { maxW: { base: "100vw", sm: "600px" } } } } },
  },
  dialog: {
    base: {
      backdrop: {
        bg: "rgb(8 21 29 / 45%)",
        _open: { animationDuration: "fast" },
        _closed: { animationDuration: "fast" },
      },
      content: {
        borderRadius: "l3",
        bg: "bg.panel",
        _open: { animationDuration: "180ms" },
        _closed: { animationDuration: "120ms" },
      },
      title: { textStyle: "lg" },
      header: { px: "5", pt: "5", pb: "2" },
      body: { px: "5", pb: "4" },
      footer: { px: "5", pb: "5", pt: "2" },
    },
  },
  menu: {
    base: {
      content: { minW: "11rem", borderWidth: "1px", borderRadius: "l3", bg: "bg.panel", p: "1" },
      item: { borderRadius: "l2", px: "2.5", py: "1.5", cursor: "pointer", _highlighted: { bg: "bg.emphasized" } },
    },
    variants: {
      variant: { subtle: { item: { _highlighted: { bg: "bg.emphasized" } } } },
      size: { md: { item: { textStyle: "sm" } } },
    },
  },
  switch: { defaultVariants: { size: "sm" } },
} as const;

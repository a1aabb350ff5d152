import { createTheme, defaultVariantColorsResolver, type MantineColorsTuple } from "@mantine/core";

// The accent is ink: tokens.css gives its colours for both themes. The tuple is only what
// the library wants to see; none of its ten values reaches the screen.
const ink: MantineColorsTuple = ["#eee", "#ddd", "#ccc", "#bbb", "#999", "#777", "#555", "#333", "#222", "#12161b"];

// The policy of the page allows no inline style sheet: scroll locks would write one.
const unlocked = { defaultProps: { lockScroll: false, transitionProps: { duration: 120 } } };

// So would the library's own scroll bars: the browser's do. It is the list itself that scrolls, whose
// options the keyboard reaches from the field, and not a box around it, which it would have to reach too.
const plainScroll = { withScrollArea: false, styles: { options: { maxHeight: 260, overflowY: "auto" } } } as const;

export const theme = createTheme({
  primaryColor: "ink",
  colors: { ink },
  defaultRadius: 6,
  // What is filled has the ink's opposite as its text, in both themes.
  variantColorResolver: (input) => {
    const colors = defaultVariantColorsResolver(input);
    return input.variant === "filled" ? { ...colors, color: "var(--ink-on)" } : colors;
  },
  respectReducedMotion: true,
  cursorType: "pointer",
  components: {
    Modal: unlocked,
    Drawer: unlocked,
    // A placeholder for the focus is no child that a menu may have.
    Menu: { defaultProps: { transitionProps: { duration: 120 }, shadow: "md", withInitialFocusPlaceholder: false } },
    Button: { defaultProps: { size: "xs" } },
    ActionIcon: { defaultProps: { size: 28, variant: "subtle", color: "ink" } },
    Select: { defaultProps: { size: "xs", allowDeselect: false, ...plainScroll } },
    Autocomplete: { defaultProps: { size: "xs", ...plainScroll } },
    TextInput: { defaultProps: { size: "xs" } },
    PasswordInput: { defaultProps: { size: "xs" } },
    Textarea: { defaultProps: { size: "xs" } },
    SegmentedControl: { defaultProps: { size: "xs" } },
    Switch: { defaultProps: { size: "sm" } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: true } },
  },
});

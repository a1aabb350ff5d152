package moment

import (
	"math/big"
	"strings"
)

// arithmetic reads + - * / ( ) and whole numbers: 7*2, -1/24, 12*(1+1). Spaces mean
// nothing. The length of an expression bounds the numbers and the depth.
type arithmetic struct {
	text string
	at   int
}

// calculate is the value of a text. The places of errors count from its beginning.
func calculate(text string) (*big.Rat, *Error) {
	a := arithmetic{text: text}
	v, err := a.sum()
	if err != nil {
		return nil, err
	}
	if a.next() != 0 {
		return nil, failf(a.at, "%q is not expected in the arithmetic", a.text[a.at])
	}
	return v, nil
}

// next is the next sign, 0 at the end.
func (a *arithmetic) next() byte {
	for a.at < len(a.text) && a.text[a.at] == ' ' {
		a.at++
	}
	if a.at == len(a.text) {
		return 0
	}
	return a.text[a.at]
}

func (a *arithmetic) sum() (*big.Rat, *Error) {
	return a.row("+-", a.product)
}

func (a *arithmetic) product() (*big.Rat, *Error) {
	return a.row("*/", a.operand)
}

// row is one operand after the other, with signs of one strength between them.
func (a *arithmetic) row(signs string, operand func() (*big.Rat, *Error)) (*big.Rat, *Error) {
	v, err := operand()
	if err != nil {
		return nil, err
	}
	for {
		sign := a.next()
		if sign == 0 || strings.IndexByte(signs, sign) < 0 {
			return v, nil
		}
		at := a.at
		a.at++
		w, err := operand()
		if err != nil {
			return nil, err
		}
		switch sign {
		case '+':
			v.Add(v, w)
		case '-':
			v.Sub(v, w)
		case '*':
			v.Mul(v, w)
		case '/':
			if w.Sign() == 0 {
				return nil, failf(at, "the arithmetic divides by zero")
			}
			v.Quo(v, w)
		}
	}
}

func (a *arithmetic) operand() (*big.Rat, *Error) {
	switch c := a.next(); {
	case c == '-' || c == '+':
		a.at++
		v, err := a.operand()
		if err == nil && c == '-' {
			v.Neg(v)
		}
		return v, err
	case c == '(':
		open := a.at
		a.at++
		v, err := a.sum()
		if err != nil {
			return nil, err
		}
		if a.next() != ')' {
			return nil, failf(open, "( has no closing )")
		}
		a.at++
		return v, nil
	case c >= '0' && c <= '9':
		from := a.at
		for a.at < len(a.text) && a.text[a.at] >= '0' && a.text[a.at] <= '9' {
			a.at++
		}
		v, _ := new(big.Rat).SetString(a.text[from:a.at])
		return v, nil
	}
	return nil, failf(a.at, "the arithmetic wants a number here")
}

// maxDays bounds every shift: from any year of 1 to 9999 it leaves them all.
const maxDays = 4_000_000

// whole is a number as an int, where it is one and no shift is so far.
func whole(v *big.Rat) (int, *Error) {
	if !v.IsInt() {
		return 0, failf(0, "the arithmetic wants a whole number, not %s", shownNumber(v))
	}
	if !v.Num().IsInt64() || v.Num().Int64() > maxDays || v.Num().Int64() < -maxDays {
		return 0, failf(0, "the number is too large: at most %d is allowed", maxDays)
	}
	return int(v.Num().Int64()), nil
}

func shownNumber(v *big.Rat) string {
	if text := v.RatString(); len(text) <= 20 {
		return text
	}
	return "a fraction"
}

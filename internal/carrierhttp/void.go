package carrierhttp

import "waybill/carrier"

// VoidUnknown is the result of a void that nobody knows the end of.
func VoidUnknown(code, message string) carrier.VoidResult {
	return carrier.VoidResult{State: carrier.VoidUnknown, Code: code, Message: carrier.Sanitise(message)}
}

// VoidUnanswered is the result of a void whose answer, of this code, proves nothing.
func VoidUnanswered(code string) carrier.VoidResult {
	return VoidUnknown(carrier.Sanitise(code), "the carrier does not say what became of the label")
}

// VoidRefused is the result of a void that the carrier refuses, with this code. Its words are left out:
// they may quote the shipment, which is not at hand at a void to take out of them.
func VoidRefused(code string) carrier.VoidResult {
	return carrier.VoidResult{
		State: carrier.VoidRefused, Code: carrier.Sanitise(code), Message: "the carrier does not void the label",
	}
}

// VoidNotSent is the result of a void that could not even be prepared: the label is as it was.
func VoidNotSent() carrier.VoidResult {
	return VoidUnknown(CodeNotSent, "the request could not be prepared")
}

// VoidNotOffered refuses every void, for a carrier that is configured without.
func VoidNotOffered() carrier.VoidResult {
	return carrier.VoidResult{State: carrier.VoidRefused, Code: "not_offered", Message: "this carrier voids no labels"}
}

// VoidOfNoLabel refuses what cannot be a label of the carrier, before it is put into an address. The
// noun, with its article, is what the carrier knows labels by.
func VoidOfNoLabel(noun string) carrier.VoidResult {
	return carrier.VoidResult{State: carrier.VoidRefused, Code: "not_a_label_id", Message: "not " + noun + " of this carrier"}
}

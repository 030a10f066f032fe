package blockkit

import "strconv"

// Charts of the data_visualization block. Series: six, although a later
// edition of the document says twelve; the lower number works everywhere.
const (
	maxSegments   = 6
	maxSeries     = 6
	maxCategories = 20
	maxChartLabel = 20
	maxAxisLabel  = 50
)

var (
	pointRow = row{fields: fields{"label": need(text(1, maxChartLabel)), "value": need(number)}}
	pieRow   = row{fields: fields{
		"type": need(enum("pie")), "segments": need(list(1, maxSegments, asObject(&pointRow))),
	}}
	seriesRow = row{fields: fields{
		"name": need(text(1, maxChartLabel)), "data": need(list(1, maxCategories, asObject(&pointRow))),
	}}
	axisRow = row{fields: fields{
		"categories": need(list(1, maxCategories, text(1, maxChartLabel))),
		"x_label":    text(0, maxAxisLabel), "y_label": text(0, maxAxisLabel),
	}}
	xyRow = row{fields: fields{
		"type": need(enum("bar", "line", "area")), "series": need(list(1, maxSeries, asObject(&seriesRow))),
		"axis_config": need(asObject(&axisRow)),
	}, also: everyCategoryOnce}
)

func chart(v *walk, at string, val any) {
	obj, ok := val.(map[string]any)
	if !ok {
		v.add(at, "must provide an object")
		return
	}
	if obj["type"] == "pie" {
		v.object(pieRow, at, obj)
		return
	}
	v.object(xyRow, at, obj)
}

// everyCategoryOnce demands one point per category in each series.
func everyCategoryOnce(v *walk, at string, obj map[string]any) {
	axis, _ := obj["axis_config"].(map[string]any)
	categories, _ := axis["categories"].([]any)
	series, _ := obj["series"].([]any)
	for i, s := range series {
		o, _ := s.(map[string]any)
		if data, ok := o["data"].([]any); ok && len(data) != len(categories) {
			v.add(at+"/series/"+strconv.Itoa(i)+"/data", "must hold one point per category")
		}
	}
}
